import os


class MachineCollection:
    @staticmethod
    def get_machine_file_path():
        return os.path.expanduser("~/.asv-machine.json")
